import { vi } from 'vitest'

import type { CallToolOptions, MCPHostOptions, StdioServerConfig } from '../src/index.ts'
import { eventually, textOf } from '@mcp-host/mcp-testkit'
import { HostStage } from './host-stage.ts'

/** Stops the clock of calls; `vi.advanceTimersByTimeAsync` fires the timers that are due. */
export function stopTime(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
}

/** A host with the fixture `calls`, under the name `it`. */
export function startCalls(
  more: Partial<StdioServerConfig> = {},
  options: Partial<MCPHostOptions> = {},
): Promise<HostStage> {
  return HostStage.start(
    (workspace) => ({ it: { ...workspace.fixture('calls', workspace.path('log')), ...more } }),
    options,
  )
}

/** Starts a call that stays in flight; resolves once the server has received it. */
export async function hold(
  stage: HostStage,
  options: CallToolOptions = {},
): Promise<{ readonly outcome: Promise<unknown> }> {
  const before = (await stage.workspace.lines('log')).length
  const outcome = stage.host
    .callTool('it.hold', {}, options)
    .then(textOf)
    .catch((error: unknown) => error)
  await eventually(async () => (await stage.workspace.lines('log')).length > before)
  return { outcome }
}
