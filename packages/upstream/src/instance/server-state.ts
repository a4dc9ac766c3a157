/** The state of a server; only a `ready` one takes calls. */
export type ServerState = 'starting' | 'ready' | 'unavailable' | 'stopping' | 'shutdown'

/** The allowed changes of state. */
const NEXT: Readonly<Record<ServerState, readonly ServerState[]>> = {
  starting: ['ready', 'unavailable', 'stopping'],
  ready: ['unavailable', 'stopping'],
  unavailable: ['starting', 'stopping'],
  stopping: ['shutdown'],
  shutdown: [],
}

/** The new state. Throws when the change is not allowed, which is a fault of the host. */
export function moveState(from: ServerState, to: ServerState): ServerState {
  if (!NEXT[from].includes(to)) throw new Error(`a server cannot go from ${from} to ${to}`)
  return to
}
