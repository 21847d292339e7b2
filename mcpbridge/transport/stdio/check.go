package stdio

// Check says in one line what is wrong with a declaration, and what to do, without
// starting anything; nil is nothing that shows.
func Check(o Options) error {
	_, err := preflight(o)
	return err
}
