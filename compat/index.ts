export { describeResult, isAsDirect } from './report.ts'
export { runCompat } from './run-compat.ts'
export { SERVERS } from './servers.ts'
