package tools

// A Gate decides which tools are offered. What it withholds is not described,
// not found and not run, while its name stays known (R-TOOLS-08). Nil admits
// every tool.
type Gate func(Info) bool

// Allow admits the tools that can do no more than e. A tool that declares no
// effect may do anything, and only an e that includes [Acts] admits it.
func Allow(e Effect) Gate {
	return func(i Info) bool {
		if i.Effect == 0 {
			return e&Acts != 0
		}
		return i.Effect&^e == 0
	}
}

func (g Gate) admits(i Info) bool { return g == nil || g(i) }
