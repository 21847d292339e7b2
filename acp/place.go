package acp

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/lorimer-dev/lorimer/acp/wire"
	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/prompt"
	"github.com/lorimer-dev/lorimer/prompt/skills"
)

// maxSkills is how many skills a client can bring along.
const maxSkills = 500

// readPlace reads what a client says of a session under our key of _meta
// (R-ACP-24). A skill that cannot be used does not keep the session from opening;
// skipped says why (R-PROMPT-45).
func readPlace(p object) (place harness.Place, skipped []error, err error) {
	var persona string
	for _, m := range []struct {
		key string
		to  *string
	}{
		{"project", &place.Project}, {"workspace", &place.Workspace}, {"locale", &place.Locale}, {"persona", &persona},
	} {
		if *m.to, err = p.ours(m.key); err != nil {
			return place, nil, err
		}
	}
	if p.meta().has("persona") {
		place.Persona = &persona
	}
	place.Skills, skipped, err = readSkills(p.meta())
	return place, skipped, err
}

// readSkills reads the skills that a client brings along.
func readSkills(ours object) (list []prompt.Skill, skipped []error, err error) {
	entries, err := ours.list("skills")
	if err != nil {
		return nil, nil, invalid(ourField("skills"), "must be an array")
	}
	taken := make(map[string]bool)
	i := 0
	for raw := range entries {
		field := fmt.Sprintf("skills[%d]", i)
		i++
		if i > maxSkills {
			return list, append(skipped, fmt.Errorf("%s and what follows: there are more than %d", field, maxSkills)), nil
		}
		skill, enabled, err := readSkill(members(raw))
		if err == nil && taken[skill.Name] {
			err = errors.New("an earlier one has the same name")
		}
		if err != nil {
			skipped = append(skipped, fmt.Errorf("%s: %s", field, reason(err)))
			continue
		}
		taken[skill.Name] = true
		if enabled {
			list = append(list, skill)
		}
	}
	return list, skipped, nil
}

// reason is what err says for people, without the code that it has on the wire.
func reason(err error) string {
	if e, ok := errors.AsType[*wire.Error](err); ok {
		return e.Message
	}
	return err.Error()
}

func readSkill(o object) (skill prompt.Skill, enabled bool, err error) {
	if o == nil {
		return skill, false, errors.New("it is no object")
	}
	if skill.Name, err = o.required("name"); err != nil {
		return skill, false, err
	}
	if skill.Description, err = o.required("description"); err != nil {
		return skill, false, err
	}
	if skill.Instruction, err = o.required("instruction"); err != nil {
		return skill, false, err
	}
	if enabled, err = o.boolean("enabled", true); err != nil {
		return skill, false, err
	}
	if skill.Contract, err = o.boolean("outputContract", false); err != nil {
		return skill, false, err
	}
	return skill, enabled, skills.Check(skill)
}

// boolean returns a member that is true or false, or what it is when it is absent.
func (o object) boolean(key string, absent bool) (bool, error) {
	if !o.has(key) {
		return absent, nil
	}
	var v bool
	if json.Unmarshal(o[key], &v) != nil {
		return false, invalid(key, "must be true or false")
	}
	return v, nil
}

// placeFailure explains why a session could not be opened where the client wants
// it. That what a stored session was bound to is gone is no mistake of the request.
func placeFailure(p harness.Place, err error) error {
	missing, ok := errors.AsType[*harness.MissingError](err)
	named := ok && (missing.What == "project" && p.Project != "" || missing.What == "workspace" && p.Workspace != "")
	if !named {
		return err
	}
	return invalid(ourField(missing.What), "cannot be used: %s", missing)
}
