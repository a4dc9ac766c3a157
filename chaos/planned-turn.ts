import type { ScriptStep } from '@mcp-host/testkit'
import { script } from '@mcp-host/testkit'
import type { Random } from './random.ts'
import { between } from './random.ts'

/** The MCP servers of the host under test, with the placements `one` and `every`. */
export const SERVERS = ['one', 'every'] as const

/** `mark` must never run twice. `look` is declared read-only. */
export type ToolName = 'mark' | 'look'

export interface PlannedCall {
  /** The argument, unique in the run, by which the journals are matched. */
  readonly id: string
  readonly tool: ToolName
}

/** The script of one generation. */
export interface PlannedStep {
  readonly thinking: string
  readonly text: string
  readonly calls: readonly PlannedCall[]
}

/** A user message and its expected answer. */
export interface PlannedTurn {
  /** Id of the message. All sessions use the same ids, which must not interfere. */
  readonly id: string
  /** Text of the message, for the scripted demo model. */
  readonly message: string
  readonly steps: readonly PlannedStep[]
  /** Whether the user cancels the turn, which may have ended before. */
  isCancelled?: boolean
}

/** The tool calls of each generation, by turn. */
const SHAPES: readonly (readonly (readonly ToolName[])[])[] = [
  [[]],
  [['mark'], []],
  [['look'], []],
  [['mark', 'look', 'mark'], []],
  [['mark'], ['look', 'mark'], []],
]

export function planTurn(
  random: Random,
  session: string,
  number: number,
  servers: readonly string[] = SERVERS,
): PlannedTurn {
  let calls = 0
  const shape = SHAPES[between(random, 0, SHAPES.length - 1)] ?? []
  const parts = shape.map((tools) =>
    planStep(random, { tools, servers }, () => `${session}-${number}-${calls++}`),
  )
  return {
    id: `m${number}`,
    message: script(...parts.map((part) => part.script)),
    steps: parts.map((part) => part.step),
  }
}

function planStep(
  random: Random,
  { tools, servers }: { readonly tools: readonly ToolName[]; readonly servers: readonly string[] },
  nextId: () => string,
): { step: PlannedStep; script: ScriptStep } {
  const tokens = between(random, 20, 60)
  const text = Array.from({ length: tokens }, (_, index) => `w${index} `).join('')
  const thinking = random() < 0.3 ? 'I think about it for a while and then I say' : ''
  const calls = tools.map((tool) => ({ id: nextId(), tool }))
  return {
    step: { thinking, text, calls },
    script: {
      ...(thinking === '' ? {} : { reasoning: thinking }),
      tokens,
      tokensPerSecond: between(random, 40, 80),
      calls: calls.map((call) => {
        const server = servers[between(random, 0, servers.length - 1)] ?? 'one'
        return { name: `${server}__${call.tool}`, arguments: { id: call.id } }
      }),
    },
  }
}
