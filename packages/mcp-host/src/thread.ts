export { parseInThread, stringifyInThread } from '@mcp-host/json/thread'
