export { argumentForms } from './arguments/argument-forms.ts'
export { sentArguments } from './arguments/sent-arguments.ts'
export { isAllowed } from './inventory/tool-filter.ts'
export {
  findResource,
  qualifyTemplate,
  qualifyUri,
  type ResourceIdentity,
  type ResourceLists,
} from './routing/find-resource.ts'
export {
  encodeHeader,
  headersFor,
  type ParameterHeader,
  parameterHeaders,
  parameterText,
} from './inventory/parameter-headers.ts'
