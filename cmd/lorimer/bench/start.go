package main

import (
	"fmt"
	"time"
)

// starts is how often each program is started.
const starts = 40

// start times the programs from their start to the answer, in turns, so that all
// see the same machine.
func start(b *built) error {
	programs := []struct {
		name string
		path string
		args []string
		best time.Duration
		cpu  time.Duration
	}{
		{name: "bare agent", path: b.bare},
		{name: "lorimer acp", path: b.lorimer, args: []string{"acp"}},
		{name: "no databases", path: b.without, args: []string{"acp"}},
	}
	for range starts {
		for i := range programs {
			p := &programs[i]
			began := time.Now()
			a, err := launch(b, p.path, p.args...)
			if err != nil {
				return err
			}
			if err := a.call("initialize", initParams, nil, nil); err != nil {
				return err
			}
			took := time.Since(began)
			cpu, err := a.close()
			if err != nil {
				return err
			}
			if p.best == 0 || took < p.best {
				p.best = took
			}
			if p.cpu == 0 || cpu < p.cpu {
				p.cpu = cpu
			}
		}
	}
	for _, p := range programs {
		fmt.Printf("  %-12s fastest of %d: %6.2f ms, processor %6.2f ms\n", p.name, starts, ms(p.best), ms(p.cpu))
	}
	fmt.Printf("  ratio %.2f (bar: 1.5), processor over the bare agent %.2f ms\n",
		float64(programs[1].best)/float64(programs[0].best), ms(programs[1].cpu-programs[0].cpu))
	fmt.Printf("  ratio to the program without databases %.2f (bar: 1.15)\n", float64(programs[1].best)/float64(programs[2].best))
	return nil
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
