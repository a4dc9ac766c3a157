/** The own fields of an object that are functions. */
export function functionsOf(value: unknown): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(Object(value)).filter(([, field]) => typeof field === 'function'),
  )
}
