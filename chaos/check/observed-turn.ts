import type { PlannedStep, PlannedTurn } from '../planned-turn.ts'

/** The text of one generation. */
export interface GenerationText {
  thinking: string
  text: string
}

export interface ObservedCall {
  /** The argument that identifies the call in the journals. */
  readonly id: string
  readonly tool: string
  /** Absent until the call has a result. */
  outcome?: string
}

/** A turn as recorded by a client's stream, or by the log. */
export interface ObservedTurn {
  /** Id of the message. */
  readonly id: string
  /** Absent until the turn has ended. */
  outcome?: string
  /** The text of each valid generation. */
  readonly texts: GenerationText[]
  /** Tool calls by call id. */
  readonly calls: Map<string, ObservedCall>
}

/** The differences between a completed turn and its script. */
export function differencesFromPlan(turn: ObservedTurn, plan: PlannedTurn): string[] {
  const differences: string[] = []
  const { steps } = plan
  if (turn.texts.length !== steps.length) {
    differences.push(`${turn.texts.length} generations instead of ${steps.length}`)
  }
  for (const [index, written] of turn.texts.entries()) {
    const step = steps[index]
    if (step !== undefined && !isWhole(written, step)) {
      differences.push(`generation ${index} says ${summarizeText(written)}`)
    }
  }
  const wanted = steps.flatMap(({ calls }) => calls.map(({ id, tool }) => `${tool} ${id}`))
  const made = Array.from(turn.calls.values(), ({ id, tool }) => `${tool} ${id}`)
  if (wanted.toSorted().join() !== made.toSorted().join()) {
    differences.push(`calls ${made.join(', ')} instead of ${wanted.join(', ')}`)
  }
  return differences
}

function isWhole({ thinking, text }: GenerationText, step: PlannedStep): boolean {
  return thinking.trim() === step.thinking && text.trim() === step.text.trim()
}

/** Whether two records of a turn have the same text, calls, results and outcome. */
export function isSameTurn(one: ObservedTurn, other: ObservedTurn): boolean {
  return comparable(one) === comparable(other)
}

function comparable({ id, outcome, texts, calls }: ObservedTurn): string {
  return JSON.stringify([
    id,
    outcome,
    // A generation that was stopped before its first token is in no stream.
    texts
      .filter(({ thinking, text }) => thinking !== '' || text !== '')
      .map(({ thinking, text }) => [thinking, text]),
    Array.from(calls, ([key, call]) => `${key} ${call.id} ${call.tool} ${call.outcome}`).toSorted(),
  ])
}

/** A short description of a turn for violations. */
export function summarizeTurn({ outcome = 'no end', texts, calls }: ObservedTurn): string {
  const ends = Array.from(
    calls,
    ([key, call]) =>
      `${call.tool} ${call.id} (${key.split('-').slice(1).join('-')}) ${call.outcome}`,
  )
  return [...texts.map(summarizeText), ...ends, outcome].join(', ')
}

/** The first and last word and the number of words, which are numbered. */
export function summarizeText({ thinking, text }: GenerationText): string {
  return [thinking, text]
    .filter((part) => part !== '')
    .map((part) => {
      const words = part.trim().split(' ')
      return `"${words[0]} … ${words.at(-1)}" (${words.length})`
    })
    .join(' + ')
}

/** The argument `id` of a tool call. */
export function idArgument(value: unknown): string {
  return typeof value === 'object' && value !== null && 'id' in value ? String(value.id) : '?'
}

/** The name of a tool without the prefix of its server. An unknown tool only has the name that the model used. */
export function ownToolName(name: string): string {
  return name.split('__').at(-1) ?? name
}
