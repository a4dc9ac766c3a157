import { messageOf } from './message-of.ts'

/** The object that a JSON text is. Throws an error that names the field and the remedy. `field`: its label. */
export function parseObject(text: string, field: string): object {
  const remedy = 'Write an object, as {"path": "/tmp"}.'
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    // The reason of the parser goes into the error.
    throw new Error(`${field}: this is not JSON (${messageOf(error)}). ${remedy}`, { cause: error })
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error(`${field}: this is JSON, but not an object. ${remedy}`)
  }
  return value
}
