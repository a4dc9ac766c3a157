import type { Api } from '../../edge/api.ts'
import type { CreateSessionDeps } from './create-session.ts'
import { addCreateSession } from './create-session.ts'
import type { DeleteSessionDeps } from './delete-session.ts'
import { addDeleteSession } from './delete-session.ts'
import { addGetSession } from './get-session.ts'
import type { ListConnectionsDeps } from './list-connections.ts'
import { addListConnections } from './list-connections.ts'
import { addListMessages } from './list-messages.ts'
import type { ListSessionsDeps } from './list-sessions.ts'
import { addListSessions } from './list-sessions.ts'
import { addUpdateSession } from './update-session.ts'

export interface SessionRoutesDeps
  extends CreateSessionDeps, DeleteSessionDeps, ListConnectionsDeps, ListSessionsDeps {}

/** Routes for sessions and their messages. */
export function addSessionRoutes(api: Api, deps: SessionRoutesDeps): void {
  addCreateSession(api, deps)
  addListSessions(api, deps)
  addGetSession(api, deps)
  addUpdateSession(api, deps)
  addDeleteSession(api, deps)
  addListConnections(api, deps)
  addListMessages(api, deps)
}
