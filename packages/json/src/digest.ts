import { isObject } from './is-object.ts'

/** The SHA-256 of a JSON value in hexadecimal. It does not depend on the order of fields. */
export async function digest(value: unknown): Promise<string> {
  const sorted = JSON.stringify(value, (_, each: unknown) =>
    isObject(each)
      ? Object.fromEntries(
          Object.entries(each).toSorted(([one], [other]) => (one < other ? -1 : 1)),
        )
      : each,
  )
  return toHex(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(sorted)))
}

export function toHex(buffer: ArrayBuffer): string {
  return Array.from(new Uint8Array(buffer), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
