import type { PlannedStep, PlannedTurn } from '../planned-turn.ts'

/** The text of one generation. */
export interface Segment {
  thinking: string
  text: string
}

export interface CallStory {
  /** The argument that tells calls apart in the journals. */
  readonly id: string
  readonly tool: string
  /** Absent while it has no result. */
  outcome?: string
}

/** A turn as somebody saw it: a client in its stream, or the log. */
export interface TurnStory {
  /** Of the message. */
  readonly id: string
  /** Absent while the turn goes on. */
  outcome?: string
  /** One for each generation that counts. */
  readonly segments: Segment[]
  /** By the host's ids of them. */
  readonly calls: Map<string, CallStory>
}

/** How a completed turn differs from what its script told the model to do. */
export function differencesFromPlan(story: TurnStory, plan: PlannedTurn): string[] {
  const differences: string[] = []
  const { steps } = plan
  if (story.segments.length !== steps.length) {
    differences.push(`${story.segments.length} generations instead of ${steps.length}`)
  }
  for (const [index, segment] of story.segments.entries()) {
    const step = steps[index]
    if (step !== undefined && !isWhole(segment, step)) {
      differences.push(`generation ${index} says ${briefText(segment)}`)
    }
  }
  const wanted = steps.flatMap(({ calls }) => calls.map(({ id, tool }) => `${tool} ${id}`))
  const made = Array.from(story.calls.values(), ({ id, tool }) => `${tool} ${id}`)
  if (wanted.toSorted().join() !== made.toSorted().join()) {
    differences.push(`calls ${made.join(', ')} instead of ${wanted.join(', ')}`)
  }
  return differences
}

function isWhole({ thinking, text }: Segment, step: PlannedStep): boolean {
  return thinking.trim() === step.thinking && text.trim() === step.text.trim()
}

/** Whether two saw the same: text, calls, results and end. */
export function isSameStory(one: TurnStory, other: TurnStory): boolean {
  return plain(one) === plain(other)
}

function plain({ id, outcome, segments, calls }: TurnStory): string {
  return JSON.stringify([
    id,
    outcome,
    // A generation that was stopped before its first word shows nowhere.
    segments
      .filter(({ thinking, text }) => thinking !== '' || text !== '')
      .map(({ thinking, text }) => [thinking, text]),
    Array.from(calls, ([key, call]) => `${key} ${call.id} ${call.tool} ${call.outcome}`).toSorted(),
  ])
}

/** A story in few words. */
export function brief({ outcome = 'no end', segments, calls }: TurnStory): string {
  const ends = Array.from(
    calls,
    ([key, call]) =>
      `${call.tool} ${call.id} (${key.split('-').slice(1).join('-')}) ${call.outcome}`,
  )
  return [...segments.map(briefText), ...ends, outcome].join(', ')
}

/** Text is numbered words: its beginning, its end and their number tell what is wrong. */
export function briefText({ thinking, text }: Segment): string {
  return [thinking, text]
    .filter((part) => part !== '')
    .map((part) => {
      const words = part.trim().split(' ')
      return `"${words[0]} … ${words.at(-1)}" (${words.length})`
    })
    .join(' + ')
}

/** The argument `id` of a call, as models give it. */
export function idArgument(value: unknown): string {
  return typeof value === 'object' && value !== null && 'id' in value ? String(value.id) : '?'
}

/** The tool's own name; one that the host did not find has only the name that the model used. */
export function ownToolName(name: string): string {
  return name.split('__').at(-1) ?? name
}
