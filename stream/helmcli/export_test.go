package helmcli

// Folder returns the session's private folder.
func (p *Process) Folder() string { return string(p.folder) }
