/** A program that does nothing but tell how far its process is: what Node itself needs to start. */
import type { ProcessMoment } from './cold-start-job.ts';

const { user, system } = process.cpuUsage();
const moment: ProcessMoment = { cpuMs: (user + system) / 1000, wallMs: performance.now() };
console.log(JSON.stringify(moment));
