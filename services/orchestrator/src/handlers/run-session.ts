import type { LogEntry, SessionId } from '@mcp-host/contracts'
import type { Verdict } from '../loop/session-run.ts'
import { SessionRun } from '../loop/session-run.ts'
import type { TurnDeps } from '../turn/turn.ts'

/** The sessions that this process works on. */
export type Runs = Map<SessionId, SessionRun>

/** Runs a session until an input has had its effect. Returns `done`, or the delay before the input is checked again. */
export async function runSession(
  deps: TurnDeps,
  runs: Runs,
  leaving: AbortSignal,
  entry: LogEntry,
): Promise<Verdict> {
  for (;;) {
    if (leaving.aborted) return { retryMs: 0 }
    const run = runs.get(entry.session) ?? begin(deps, runs, leaving, entry)
    const verdict = await run.verdict(entry)
    if (verdict !== undefined) return verdict
    await run.ended()
  }
}

function begin(deps: TurnDeps, runs: Runs, leaving: AbortSignal, entry: LogEntry): SessionRun {
  const run = new SessionRun(deps, entry, leaving)
  runs.set(entry.session, run)
  void run.ended().finally(() => runs.delete(entry.session))
  return run
}
