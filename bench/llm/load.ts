import { setTimeout as delay } from 'node:timers/promises'

/** The answer that the model is told to write. */
export interface Answer {
  readonly tokens: number
  readonly tokensPerSecond: number
}

/** Rounds of concurrent answers. */
export interface Load extends Answer {
  readonly generations: number
  readonly rounds: number
}

/** Durations of one answer, in milliseconds. */
export interface AnswerFigures {
  /** From the request to the first text. */
  readonly first: number
  /** The delay of each token from the model to the requester. */
  readonly deltas: readonly number[]
}

/** Requests all answers of a load. The requests of a round are spread over the time between two tokens. */
export async function applyLoad(
  { generations, rounds, tokensPerSecond }: Load,
  ask: () => Promise<AnswerFigures>,
): Promise<AnswerFigures[]> {
  const figures: AnswerFigures[] = []
  for (let round = 0; round < rounds; round++) {
    const answers = Array.from({ length: generations }, async (_, index) => {
      await delay((index / generations) * (1_000 / tokensPerSecond))
      return ask()
    })
    figures.push(...(await Promise.all(answers)))
  }
  return figures
}
