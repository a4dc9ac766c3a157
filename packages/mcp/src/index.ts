export { JsonRpcCode } from './error-codes.ts'
