package prompt

import "time"

// Parts is the system prompt in its two halves (R-PROMPT-21).
type Parts struct {
	Stable   string // all that the model is told; equal inputs give equal bytes
	Volatile string // the date, and nothing else
	Full     string // both, with a blank line between them
}

// Parts assembles and renders the prompt for c, and returns it with the assembly
// behind it. now is in the zone of the user. An error is an [*Error].
func (r *Registry) Parts(c Context, now time.Time) (Parts, Assembly, error) {
	a, err := r.assemble(c, now)
	if err != nil {
		return Parts{}, Assembly{}, err
	}
	stable, err := a.render()
	if err != nil {
		return Parts{}, a, err
	}
	p := Parts{Stable: stable, Volatile: DateNote(now)}
	p.Full = paragraphs(p.Stable, p.Volatile)
	return p, a, nil
}
