/** All patterns of one check together; a step takes about 5 ns. */
const MAX_STEPS = 1_000_000
/** A repeated group, look-around, or a reference to what was matched before, once escapes are replaced. */
const OPAQUE = /\(\?|\\|\)[*+{]/

/** A check would take longer than the event loop can wait. */
export class DearPatternError extends Error {
  override readonly name = 'DearPatternError'
}

/** The steps that the patterns of one check may still take. */
export class PatternBudget {
  #steps = MAX_STEPS

  renew(): void {
    this.#steps = MAX_STEPS
  }

  /** Throws `DearPatternError`. */
  spend(steps: number): void {
    this.#steps -= steps
    if (!(this.#steps >= 0)) throw new DearPatternError('its patterns take too many steps')
  }
}

/**
 * A regular expression that is applied only to texts for which a backtracking engine certainly needs few steps. ajv
 * uses it instead of a RegExp.
 */
export class GuardedPattern {
  readonly #pattern: RegExp
  readonly #budget: PatternBudget
  readonly #shape: PatternShape

  /** Throws `SyntaxError`. */
  constructor(source: string, flags: string, budget: PatternBudget) {
    this.#pattern = new RegExp(source, flags)
    this.#budget = budget
    this.#shape = shapeOf(source)
  }

  test(text: string): boolean {
    this.#budget.spend(stepsOf(this.#shape, text.length))
    return this.#pattern.test(text)
  }

  /** By this ajv tells patterns apart. */
  toString(): string {
    return String(this.#pattern)
  }
}

interface PatternShape {
  readonly length: number
  /** The number of parts that match texts of different lengths. */
  readonly repetitions: number
  /** The number of parts that match in one of two ways. */
  readonly alternatives: number
  readonly isAnchored: boolean
}

function shapeOf(source: string): PatternShape {
  const atoms = source
    .replaceAll(/\\[^1-9k]/gs, 'x')
    .replaceAll(/\[[^\]]*\]/g, 'x')
    .replaceAll('(?:', '(')
  // A repeated group may match one text in exponentially many ways.
  const isOpaque = OPAQUE.test(atoms)
  // Exactly so many of one character leave no choice.
  const choices = atoms.replaceAll(/\{\d{1,2}\}/g, '')
  const alternatives = count(choices, /[|?]/g)
  return {
    length: choices.length + 1,
    repetitions: isOpaque ? Infinity : count(choices, /[*+{]/g),
    alternatives,
    isAnchored: choices.startsWith('^') && !choices.includes('|'),
  }
}

/** The most often that a backtracking engine looks at a character of a text of this length. */
function stepsOf(shape: PatternShape, length: number): number {
  const { repetitions, alternatives, isAnchored } = shape
  if (repetitions === Infinity) return Infinity
  const starts = isAnchored ? 1 : length + 1
  return shape.length * starts * 2 ** alternatives * divisions(length, repetitions)
}

/** In how many ways a text can be divided among so many parts, with a rest: `length + parts` over `parts`. */
function divisions(length: number, parts: number): number {
  let ways = 1
  for (let part = 1; part <= parts && ways <= MAX_STEPS; part += 1) {
    ways = (ways * (length + part)) / part
  }
  return ways
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0
}
