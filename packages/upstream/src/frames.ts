export { TokenBucket } from './policies/token-bucket.ts'
export { type Pace, PacedConnection } from './transport/paced-frames.ts'
