const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i

/**
 * The scalar that a value means where a schema asks for `type`, as `"1"` means 1; undefined when it means none, or
 * would lose digits.
 */
export function coerceScalar(value: unknown, type: unknown): string | number | boolean | undefined {
  switch (type) {
    case 'number':
    case 'integer': {
      const number = typeof value === 'string' && NUMBER.test(value.trim()) ? Number(value) : NaN
      const isExact = Number.isInteger(number)
        ? Number.isSafeInteger(number)
        : Number.isFinite(number) && type === 'number'
      return isExact ? number : undefined
    }
    case 'boolean': {
      const text = typeof value === 'string' ? value.trim().toLowerCase() : value
      if (text === 'true' || text === 1) return true
      return text === 'false' || text === 0 ? false : undefined
    }
    case 'string':
      return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined
    default:
      return undefined
  }
}
