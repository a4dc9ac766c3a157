/** What the model is to write. */
export interface Answer {
  readonly tokens: number
  readonly tokensPerSecond: number
}

/** So many answers at once, and this a few times over. */
export interface Load extends Answer {
  readonly generations: number
  readonly rounds: number
}

/** What one answer took, in milliseconds. */
export interface AnswerFigures {
  /** From asking until the first text was there. */
  readonly first: number
  /** Each token's way from the model to who asked. */
  readonly deltas: readonly number[]
}

/** Lets all answers of a load be asked for, those of a round spread over the time between two tokens. */
export async function applyLoad(
  { generations, rounds, tokensPerSecond }: Load,
  ask: () => Promise<AnswerFigures>,
): Promise<AnswerFigures[]> {
  const figures: AnswerFigures[] = []
  for (let round = 0; round < rounds; round++) {
    const asked = Array.from({ length: generations }, async (_, index) => {
      const wait = (index / generations) * (1_000 / tokensPerSecond)
      await new Promise((resolve) => setTimeout(resolve, wait))
      return ask()
    })
    figures.push(...(await Promise.all(asked)))
  }
  return figures
}
