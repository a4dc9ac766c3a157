/** The state of a server; only a `ready` one takes calls. */
export type ServerState = 'starting' | 'ready' | 'unavailable' | 'stopping' | 'shutdown'

/** The one table of what may follow what. */
const NEXT: Readonly<Record<ServerState, readonly ServerState[]>> = {
  starting: ['ready', 'unavailable', 'stopping'],
  ready: ['unavailable', 'stopping'],
  unavailable: ['starting', 'stopping'],
  stopping: ['shutdown'],
  shutdown: [],
}

/** The state after a move. Throws when the table does not allow it: that is a fault in the host. */
export function moveState(from: ServerState, to: ServerState): ServerState {
  if (!NEXT[from].includes(to)) throw new Error(`a server cannot go from ${from} to ${to}`)
  return to
}
