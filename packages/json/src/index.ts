export { coerceScalar } from './coerce-scalar.ts'
export { decodeText } from './decode-text.ts'
export type { JsonShape } from './inspect-json.ts'
export { JsonInspector, inspectJson } from './inspect-json.ts'
export { isObject } from './is-object.ts'
export {
  MAX_JSON_DEPTH,
  MAX_JSON_NAMES,
  TOO_DEEP,
  excessOf,
  hasMoreValues,
  isTooDeep,
} from './json-limits.ts'
export type { JsonPath } from './json-path.ts'
export { pointerPath, valueAt, withValueAt } from './json-path.ts'
export { ownValue } from './own-value.ts'
export { portableSchema } from './portable-schema.ts'
export { readFault } from './read-fault.ts'
export { readJson } from './read-json.ts'
export { resolveReference } from './resolve-reference.ts'
export { wellFormedJson } from './well-formed-json.ts'
export { digest, toHex } from './digest.ts'
