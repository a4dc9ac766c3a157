/** The first dotted number in a text such as `nats-server: v2.12.15`, or undefined. */
export function findVersion(text) {
  return /\d+\.\d+\.\d+/.exec(text)?.[0]
}

/** Whether `version` is `minimum` or later; both are dotted numbers of any length. */
export function isAtLeast(version, minimum) {
  const actual = version.split('.').map(Number)
  const wanted = minimum.split('.').map(Number)
  for (const [position, part] of wanted.entries()) {
    const difference = (actual[position] ?? 0) - part
    if (difference !== 0) return difference > 0
  }
  return true
}
