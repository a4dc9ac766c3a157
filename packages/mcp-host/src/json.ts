export { decodeText } from './json/decode-text.ts'
export { isObject } from './json/is-object.ts'
export { excessOf, isTooDeep, MAX_JSON_DEPTH, TOO_DEEP } from './json/json-limits.ts'
export { wellFormedJson } from './json/well-formed-json.ts'
