export { JsonRpcCode } from './error-codes.ts'
export { APPS_EXTENSION, ENVELOPE_KEYS, MetaKey } from './meta-keys.ts'
