export {
  decodeText,
  excessOf,
  isObject,
  isTooDeep,
  MAX_JSON_DEPTH,
  portableSchema,
  readFault,
  TOO_DEEP,
  wellFormedJson,
} from '@mcp-host/json'
