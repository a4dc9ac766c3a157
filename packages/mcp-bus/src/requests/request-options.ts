import { OPTIONS_META_KEY, RequestOptions } from '@mcp-host/contracts'
import { ValidationError } from '@mcp-host/upstream'
import type { Json } from './eras.ts'
import { isObject } from '@mcp-host/json'

/**
 * Parses the options in the `_meta` of a request: time-out, priority, retries. Throws `ValidationError` for a faulty
 * option.
 */
export function requestOptions({ _meta: meta }: Json): RequestOptions | undefined {
  const given = isObject(meta) ? meta[OPTIONS_META_KEY] : undefined
  if (given === undefined) return undefined
  const { data, error } = RequestOptions.safeParse(given)
  if (error === undefined) return data
  const { path = [], message = '' } = error.issues[0] ?? {}
  const field = ['_meta', OPTIONS_META_KEY, ...path].join('.')
  throw new ValidationError(`${field}: ${message}`, [], {})
}
