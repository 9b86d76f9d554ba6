export { createNodePlatform, type NodePlatformOptions } from './node-platform.ts';
