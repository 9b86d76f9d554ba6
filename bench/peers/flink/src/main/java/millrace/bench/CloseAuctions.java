package millrace.bench;

import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.streaming.api.functions.co.KeyedCoProcessFunction;
import org.apache.flink.util.Collector;

/**
 * Emits an auction with its best bid when it closes. Bids may come before their auction; at the watermark of a bid's own time
 * every auction that was open then has come: a bid that still waits has none.
 */
abstract class CloseAuctions<A, B, R> extends KeyedCoProcessFunction<Long, A, B, R> {
  private final TypeInformation<A> auctionType;
  private final TypeInformation<B> bidType;
  private transient ValueState<A> auction;
  private transient ValueState<B> best;
  private transient ListState<B> waiting;

  CloseAuctions(TypeInformation<A> auctionType, TypeInformation<B> bidType) {
    this.auctionType = auctionType;
    this.bidType = bidType;
  }

  abstract long startOf(A auction);

  abstract long expiryOf(A auction);

  abstract long timeOf(B bid);

  abstract boolean isBetter(B left, B right);

  abstract R result(A auction, B best);

  @Override
  public void open(OpenContext context) {
    auction = getRuntimeContext().getState(new ValueStateDescriptor<>("auction", auctionType));
    best = getRuntimeContext().getState(new ValueStateDescriptor<>("best", bidType));
    waiting = getRuntimeContext().getListState(new ListStateDescriptor<>("waiting", bidType));
  }

  @Override
  public void processElement1(A opened, Context context, Collector<R> out) throws Exception {
    auction.update(opened);
    context.timerService().registerEventTimeTimer(expiryOf(opened));
    for (B bid : waiting.get()) take(opened, bid);
    waiting.clear();
  }

  @Override
  public void processElement2(B bid, Context context, Collector<R> out) throws Exception {
    A opened = auction.value();
    if (opened != null) {
      take(opened, bid);
      return;
    }
    waiting.add(bid);
    context.timerService().registerEventTimeTimer(timeOf(bid));
  }

  @Override
  public void onTimer(long timestamp, OnTimerContext context, Collector<R> out) throws Exception {
    A opened = auction.value();
    if (opened == null) {
      List<B> left = new ArrayList<>();
      for (B bid : waiting.get()) if (timeOf(bid) > timestamp) left.add(bid);
      waiting.update(left);
    } else if (expiryOf(opened) == timestamp) {
      B winner = best.value();
      if (winner != null) out.collect(result(opened, winner));
      auction.clear();
      best.clear();
    }
  }

  private void take(A opened, B bid) throws Exception {
    if (timeOf(bid) < startOf(opened) || timeOf(bid) > expiryOf(opened)) return;
    B known = best.value();
    if (known == null || isBetter(bid, known)) best.update(bid);
  }
}
