package millrace.bench;

/** As in bench/nexmark/generator.ts. */
public class Person {
  public long id;
  public String name;
  public String emailAddress;
  public String creditCard;
  public String city;
  public String state;
  public long dateTime;
  public String extra;
}
