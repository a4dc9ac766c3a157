export {
  cleanName,
  findNameClashes,
  isForAppsOnly,
  joinToolNames,
  safeToolNames,
} from '@mcp-host/mcp'
