import type { Bus } from '@mcp-host/bus'
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
import { ownRecord } from './own-record.ts'
import type { UpdateDeps } from './update-session.ts'
import { updateSession } from './update-session.ts'

export interface ServeSessionsDeps {
  readonly bus: Bus
  readonly logger: Logger
  readonly views: SessionViews
  readonly providers: UpdateDeps['providers']
  /** Epoch milliseconds. */
  readonly now?: () => number
}

/** Answers what clients ask about their sessions, until disposed. */
export async function serveSessions({
  bus,
  logger,
  views,
  providers,
  now = Date.now,
}: ServeSessionsDeps): Promise<Disposable> {
  const { records } = await bus.directory.watch()
  const stack = new DisposableStack()
  stack.use(
    bus.serve(listSessions, {}, ({ request, envelope: { principal } }) =>
      listRecords(records.values(), principal, request),
    ),
  )
  stack.use(
    bus.serve(getSession, {}, async ({ request: { session }, envelope: { principal } }) => {
      const found = await bus.directory.get(session)
      return ownRecord(session, found?.record, principal)
    }),
  )
  stack.use(
    bus.serve(updateCall, {}, ({ request: { session, ...change }, envelope }) =>
      updateSession({ bus, providers, now }, session, change, envelope),
    ),
  )
  stack.use(
    bus.serve(deleteSession, {}, async ({ request: { session }, envelope }) => {
      const { principal } = envelope
      const check = (record: Parameters<typeof ownRecord>[1]) =>
        ownRecord(session, record, principal)
      await eraseSession({ bus, logger }, session, { envelope, check })
      return {}
    }),
  )
  stack.use(
    bus.serve(sessionHistory, {}, ({ request, envelope: { principal } }) =>
      historyPage(bus, views, request, principal),
    ),
  )
  return stack
}
