import type { LogEntry, SessionId } from '@mcp-host/contracts'
import { SessionRun } from '../turn/session-run.ts'
import type { TurnDeps } from '../turn/turn.ts'

/** How soon to look again at a message whose session another orchestrator is busy with. */
const ELSEWHERE_MS = 1_000

/** The sessions this process is at work on. */
export type Runs = Map<SessionId, SessionRun>

/** Sees to it that a user message gets its turn; answers when that is done, or when to try again. */
export async function runSession(
  deps: TurnDeps,
  runs: Runs,
  entry: LogEntry,
): Promise<'done' | { retryMs: number }> {
  for (;;) {
    const current = runs.get(entry.session)
    const run = current ?? new SessionRun(deps, entry)
    if (current === undefined) {
      runs.set(entry.session, run)
      void run.ended().finally(() => runs.delete(entry.session))
    }
    if (await run.answered(entry.seq)) return 'done'
    // A run that was already on its way may have ended before this message was stored.
    if (current === undefined) return { retryMs: ELSEWHERE_MS }
    await run.ended()
  }
}
