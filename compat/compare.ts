export interface Difference {
  /** The place within the observation. */
  readonly path: readonly string[]
  readonly text: string
}

const MAX_CHARACTERS = 160

/** The differences between two observations, in the parts that `through` has. */
export function compareObservations(
  direct: Readonly<Record<string, unknown>>,
  through: Readonly<Record<string, unknown>>,
): Difference[] {
  return Object.keys(through).flatMap((part) => compareValues(direct[part], through[part], [part]))
}

function compareValues(direct: unknown, through: unknown, path: readonly string[]): Difference[] {
  if (!isObject(direct) || !isObject(through)) {
    if (Object.is(direct, through)) return []
    return [{ path, text: `${show(direct)} directly, ${show(through)} through /mcp` }]
  }
  const keys = new Set([...Object.keys(direct), ...Object.keys(through)])
  const differences = Array.from(keys).flatMap((key) =>
    compareValues(direct[key], through[key], [...path, key]),
  )
  const isList = path.length === 1
  if (isList && differences.length === 0 && !hasSameOrder(direct, through)) {
    return [{ path, text: 'in another order through /mcp' }]
  }
  return differences
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

function hasSameOrder(one: object, other: object): boolean {
  return Object.keys(one).join('\n') === Object.keys(other).join('\n')
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? 'absent'
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text
}
