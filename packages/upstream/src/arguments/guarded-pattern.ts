/** The limit for all patterns of one check together; a step takes about 5 ns. */
const MAX_STEPS = 1_000_000
/** A repeated group, look-around, or back-reference, once escapes are replaced. */
const OPAQUE = /\(\?|\\|\)[*+{]/

/** The error for patterns that would block the event loop for too long. */
export class CostlyPatternError extends Error {
  override readonly name = 'CostlyPatternError'
}

/** The steps left for the patterns of one check. */
export class PatternBudget {
  #steps = MAX_STEPS

  renew(): void {
    this.#steps = MAX_STEPS
  }

  /** Throws `CostlyPatternError`. */
  spend(steps: number): void {
    this.#steps -= steps
    if (!(this.#steps >= 0)) throw new CostlyPatternError('its patterns take too many steps')
  }
}

/** Replaces a RegExp in ajv: refuses texts for which a backtracking engine might need many steps. */
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

  /** The key under which ajv caches a pattern. */
  toString(): string {
    return String(this.#pattern)
  }
}

interface PatternShape {
  readonly length: number
  readonly repetitions: number
  readonly alternatives: number
  readonly isAnchored: boolean
}

function shapeOf(source: string): PatternShape {
  const atoms = source
    .replaceAll(/\\[^1-9k]/gs, 'x')
    .replaceAll(/\[[^\]]*\]/g, 'x')
    .replaceAll('(?:', '(')
  // A fixed number of repetitions leaves no choice, but takes as many steps.
  const fixed = /\{(\d{1,2})\}/g
  const choices = atoms.replaceAll(fixed, '')
  const repeated = Array.from(atoms.matchAll(fixed), ([, times]) => Number(times))
  return {
    length: choices.length + 1 + repeated.reduce((sum, times) => sum + times, 0),
    // A repeated group may match one text in exponentially many ways.
    repetitions: OPAQUE.test(atoms) ? Infinity : count(choices, /[*+{]/g),
    alternatives: count(choices, /[|?]/g),
    isAnchored: choices.startsWith('^') && !choices.includes('|'),
  }
}

/** An upper bound of the steps of a backtracking engine for a text of this length. */
function stepsOf(shape: PatternShape, length: number): number {
  const { repetitions, alternatives, isAnchored } = shape
  if (repetitions === Infinity) return Infinity
  const starts = isAnchored ? 1 : length + 1
  return shape.length * starts * 2 ** alternatives * divisions(length, repetitions)
}

/** The number of ways to divide a text among `parts` repetitions and a rest: the binomial `length + parts` over `parts`. */
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
