/** Alternatives in braces of one pattern, such as `*.{ts,tsx}`. */
const MAX_ALTERNATIVES = 32

/**
 * Matches paths against a pattern with `*`, `?`, `**` and `{a,b}`. A pattern without a slash is compared with the name. Takes
 * time in proportion to both lengths: patterns come from models, and a regular expression could hang.
 */
export function globMatcher(pattern: string): (parts: readonly string[]) => boolean {
  const alternatives = expandBraces(pattern).map((each) => each.replace(/^\.?\//, '').split('/'))
  return (parts) =>
    alternatives.some((globs) =>
      matchesParts(globs, globs.length === 1 && globs[0] !== '**' ? parts.slice(-1) : parts),
    )
}

function matchesParts(globs: readonly string[], parts: readonly string[]): boolean {
  return matchesInOrder(globs, parts, '**', matchesName)
}

function matchesName(glob: string, name: string): boolean {
  const isMatch = (one: string, other: string): boolean => one === '?' || one === other
  return matchesInOrder(Array.from(glob), Array.from(name), '*', isMatch)
}

/** Whether the items match the patterns one by one; `any` stands for any number of items. Goes back to the last `any` only. */
function matchesInOrder(
  patterns: readonly string[],
  items: readonly string[],
  any: string,
  isMatch: (pattern: string, item: string) => boolean,
): boolean {
  let at = 0
  let lastAny = -1
  let resumeAt = 0
  for (let index = 0; index < items.length;) {
    const pattern = patterns[at]
    if (pattern === any) {
      lastAny = at++
      resumeAt = index
    } else if (pattern !== undefined && isMatch(pattern, items[index] ?? '')) {
      at++
      index++
    } else if (lastAny >= 0) {
      at = lastAny + 1
      index = ++resumeAt
    } else {
      return false
    }
  }
  return patterns.slice(at).every((pattern) => pattern === any)
}

function expandBraces(pattern: string): string[] {
  let patterns = [pattern]
  for (;;) {
    const next = patterns.flatMap((each) => {
      const [whole, before = '', list = '', after = ''] =
        /^([^{}]*)\{([^{}]*)\}(.*)$/s.exec(each) ?? []
      return whole === undefined ? each : list.split(',').map((part) => before + part + after)
    })
    if (next.length > MAX_ALTERNATIVES) {
      throw new Error(`pattern: has over ${MAX_ALTERNATIVES} alternatives; search for fewer`)
    }
    if (next.every((each, index) => each === patterns[index])) return next
    patterns = next
  }
}
