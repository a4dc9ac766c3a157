export { watchFile } from '@mcp-host/process'
