export { JsonRpcCode } from './error-codes.ts'
export { APPS_EXTENSION, ENVELOPE_KEYS, MetaKey } from './meta-keys.ts'
export type { ResourceIdentity, ResourceLists } from './names/find-resource.ts'
export { findResource, qualifyTemplate, qualifyUri } from './names/find-resource.ts'
export type { Named, PromptIdentity, ToolIdentity } from './names/name-table.ts'
export { NameTable } from './names/name-table.ts'
export { shortHash } from './names/short-hash.ts'
export { isAllowed, type ToolFilter } from './names/tool-filter.ts'
export {
  cleanName,
  findNameClashes,
  isForAppsOnly,
  joinToolNames,
  safeToolNames,
} from './names/tool-names.ts'
export type { ParameterHeader } from './parameter-headers.ts'
export { encodeHeader, headersFor, parameterHeaders, parameterText } from './parameter-headers.ts'
