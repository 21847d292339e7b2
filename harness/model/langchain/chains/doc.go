// Package chains shows that every model of ours serves langchaingo's chains, its
// conversations and its agents as any other llms.Model does: it is nothing but
// tests. It is a module of its own, since the templates of those chains bring
// twenty modules that nothing else needs.
package chains
