// Package clientio puts the files of an editor before those of the disk, so that
// tools see what the user sees: text that is not saved yet.
//
// The disk stays the truth. Text of the editor counts only where it differs from
// the disk for a reason, what is written through the editor is compared with the
// disk afterwards, and every failure of the editor leads back to the disk
// (R-ACP-43). A name is resolved inside the workspace before the editor hears of
// it (R-HARN-12).
package clientio
