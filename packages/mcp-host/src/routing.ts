export {
  encodeHeader,
  findResource,
  headersFor,
  isAllowed,
  type ParameterHeader,
  parameterHeaders,
  parameterText,
  qualifyTemplate,
  qualifyUri,
  type ResourceIdentity,
  type ResourceLists,
} from '@mcp-host/mcp'
export { argumentForms, sentArguments } from '@mcp-host/upstream/arguments'
