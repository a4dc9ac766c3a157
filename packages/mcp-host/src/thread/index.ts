export { parseInThread, stringifyInThread } from './json.ts'
