import { Intake } from '../src/intake/intake.ts'
import { MESSAGE_LIMITS, type MessageLimits } from '../src/intake/message-limits.ts'
import { silentLogger } from '@mcp-host/process'
import type { LeftOut } from '../src/metrics/host-metrics.ts'

export interface TestIntake {
  readonly intake: Intake
  readonly leftOut: LeftOut
  /** The reasons for which the connection had to end. */
  readonly exceeded: string[]
}

/** An intake for the messages of one connection. */
export function testIntake(limits: Partial<MessageLimits> = {}, now?: () => number): TestIntake {
  const leftOut = { notices: 0, requests: 0, messages: 0, lines: 0 }
  const exceeded: string[] = []
  const intake = new Intake({
    limits: { ...MESSAGE_LIMITS, ...limits },
    logger: silentLogger,
    onLeftOut: (what) => void (leftOut[what] += 1),
    onExceeded: (reason) => void exceeded.push(reason),
    now,
  })
  return { intake, leftOut, exceeded }
}
