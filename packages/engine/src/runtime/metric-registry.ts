/** Counters and gauges of the operators of one chain. Read by reports; written once a batch or on rare events. */
import type { OperatorMetrics } from './operator.ts';

class Counter {
  value = 0;
  inc(n = 1): void {
    this.value += n;
  }
}

export class MetricRegistry {
  private readonly counters = new Map<string, Counter>();
  private readonly gauges = new Map<string, () => number>();

  /** The metrics of one operator; names get `operator.` in front. */
  scope(operatorName: string): OperatorMetrics {
    return {
      counter: (name) => {
        const key = `${operatorName}.${name}`;
        let counter = this.counters.get(key);
        if (counter === undefined) this.counters.set(key, (counter = new Counter()));
        return counter;
      },
      gauge: (name, read) => {
        this.gauges.set(`${operatorName}.${name}`, read);
      },
    };
  }

  /** All values by name. */
  read(): Record<string, number> {
    const values: Record<string, number> = {};
    for (const [name, counter] of this.counters) values[name] = counter.value;
    for (const [name, read] of this.gauges) values[name] = read();
    return values;
  }
}
