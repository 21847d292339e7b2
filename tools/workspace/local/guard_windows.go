package local

// A guard has nothing to do on Windows, where the commands of a killed process
// are left to their users.
type guard struct{}

func newGuard() *guard { return nil }

func (*guard) over(int) {}

func (*guard) dismiss() {}
