import { readFileSync } from 'node:fs'
import { decodeText } from '@mcp-host/json'
import { fieldPlaces } from './field-places.ts'

/**
 * The lines, from 1, at which the elements of a list in a file of settings begin. Empty when the file or the list cannot
 * be read: `readDataFile` says why.
 */
export function elementLines(path: string, list: string): number[] {
  try {
    const text = decodeText(readFileSync(path))
    return fieldPlaces(text, path)
      .ofElements(list)
      .map(({ line }) => line)
  } catch {
    return []
  }
}
