const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i

/** The value as a scalar of a JSON Schema type, such as 1 for `"1"`; undefined when it has no exact equivalent. */
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
