import type { Bus } from '@mcp-host/bus'
import type { SessionId, SessionRecord } from '@mcp-host/contracts'
import {
  deleteSession,
  getSession,
  listSessions,
  sessionHistory,
  updateSession as updateCall,
} from '@mcp-host/contracts'
import type { Logger } from '@mcp-host/service'
import type { SessionViews } from '../turn/session-views.ts'
import { eraseSession } from './erase-session.ts'
import { historyPage } from './history-page.ts'
import { listRecords } from './list-records.ts'
import { newRecord } from './new-record.ts'
import { noSession, ownRecord } from './own-record.ts'
import type { SessionDetailsDeps } from './session-details.ts'
import { sessionDetails } from './session-details.ts'
import type { UpdateDeps } from './update-session.ts'
import { updateSession } from './update-session.ts'

export interface ServeSessionsDeps extends SessionDetailsDeps {
  readonly bus: Bus
  readonly logger: Logger
  readonly views: SessionViews
  readonly providers: UpdateDeps['providers']
}

/** Serves requests of clients about their sessions until disposed. */
export async function serveSessions(deps: ServeSessionsDeps): Promise<Disposable> {
  const { bus, logger, views, providers } = deps
  const now = (): number => bus.clock.now()
  const { records } = await bus.directory.watch()
  const stack = new DisposableStack()
  /** Checks the log, which may have a deletion before the record does. */
  const checkLog = async (session: SessionId): Promise<void> => {
    if (await bus.sessions.isDeleted(session)) throw noSession(session)
  }
  stack.use(
    bus.serve(listSessions, {}, ({ request, envelope: { principal } }) =>
      listRecords(records.values(), principal, request),
    ),
  )
  stack.use(
    bus.serve(getSession, {}, async ({ request: { session }, envelope }) => {
      const found = await bus.directory.get(session)
      const record = ownRecord(session, found?.record, envelope)
      await checkLog(session)
      return sessionDetails(deps, record, envelope)
    }),
  )
  stack.use(
    bus.serve(updateCall, {}, async ({ request: { session, ...change }, envelope }) => {
      await checkLog(session)
      return updateSession({ bus, providers, now }, session, change, envelope)
    }),
  )
  stack.use(
    bus.serve(deleteSession, {}, async ({ request: { session }, envelope }) => {
      const { principal } = envelope
      // The gateway has checked the owner. The session may have no record yet.
      const isDeleted = await bus.sessions.isDeleted(session)
      const check = (record: SessionRecord | undefined): SessionRecord =>
        record === undefined && isDeleted
          ? newRecord(session, principal, now())
          : ownRecord(session, record, envelope)
      await eraseSession({ bus, logger }, session, { envelope, check })
      return {}
    }),
  )
  stack.use(
    bus.serve(sessionHistory, {}, ({ request, envelope }) =>
      historyPage(bus, views, request, envelope),
    ),
  )
  return stack
}
