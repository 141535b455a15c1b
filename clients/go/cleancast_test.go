package cleancast

// What needs a relay runs only with CLEANCAST_URL and CLEANCAST_KEY, an inbound key of a site that is connected to the sandbox alone.

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"
)

func withRelay(t *testing.T) *Client {
	t.Helper()
	address, key := os.Getenv("CLEANCAST_URL"), os.Getenv("CLEANCAST_KEY")
	if address == "" || key == "" {
		t.Skip("CLEANCAST_URL and CLEANCAST_KEY are not set")
	}
	client, err := New(address, key)
	if err != nil {
		t.Fatal(err)
	}
	client.Budget = time.Minute
	return client
}

func newID() string { return fmt.Sprintf("go-%d", time.Now().UnixNano()) }

func TestAnOrderIsAcceptedOnceAndEachOfItsRefunds(t *testing.T) {
	client := withRelay(t)
	order := Conversion{Email: "ada@example.com", Currency: "EUR", OrderID: newID()}
	purchase := order
	purchase.Event, purchase.Value, purchase.LeadID = "purchase", Float(49.9), "123456789012345"
	purchase.Items = []Item{{ID: "SKU-1", Name: "Mug", Price: Float(24.95), Quantity: 2}}
	purchase.ClickIDs, purchase.ClickTime = map[string]string{"gclid": "Cj0KCQiA"}, time.Now().UTC().Format(time.RFC3339)
	answer, err := client.Send(context.Background(), purchase)
	if err != nil || !answer.Results["sandbox"].OK {
		t.Fatalf("%+v, %v", answer, err)
	}
	if again, err := client.Send(context.Background(), purchase); err != nil || !again.Deduped {
		t.Fatalf("%+v, %v", again, err)
	}
	for _, id := range []string{"R-1", "R-2"} {
		refund := order
		refund.Event, refund.Value, refund.RefundID = "refund", Float(5), id
		if answer, err := client.Send(context.Background(), refund); err != nil || answer.Event != "refund" {
			t.Fatalf("%+v, %v", answer, err)
		}
	}
}

func TestEachConversionOfABatchIsAnswered(t *testing.T) {
	client := withRelay(t)
	lead := Conversion{Email: "ada@example.com", Event: "lead", OrderID: newID()}
	outcomes, err := client.SendBatch(context.Background(), []Conversion{lead, {Event: "lead"}})
	if err != nil || len(outcomes) != 2 || outcomes[0].Accepted == nil {
		t.Fatalf("%+v, %v", outcomes, err)
	}
	if refused := outcomes[1].Refused; refused == nil || refused.Error() != "400 email or hashed_email required" {
		t.Fatalf("%+v", outcomes[1])
	}
}

func failAt(t *testing.T, address string, timeout time.Duration) error {
	t.Helper()
	client, err := New(address, "cc_secret0123456789")
	if err != nil {
		t.Fatal(err)
	}
	// The first wait is longer than the budget, so there is one attempt.
	client.Timeout, client.Budget, client.FirstDelay = timeout, 14*time.Second, 30*time.Second
	_, err = client.Send(context.Background(), Conversion{Email: "ada@example.com", Event: "lead"})
	if err == nil || errors.Unwrap(err) == nil {
		t.Fatalf("%v has no cause", err)
	}
	if printed := fmt.Sprintf("%+v %#v %+v", err, err, errors.Unwrap(err)); strings.Contains(printed, "cc_secret") {
		t.Fatal("the error shows the key")
	}
	return err
}

func TestTheFirstErrorSaysWhyNoAnswerCame(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	expect := func(words string, err error) {
		t.Helper()
		if err.Error() != "no answer: "+words {
			t.Errorf("%q, not %q", err, words)
		}
	}
	expect("nothing within 200ms", failAt(t, "http://"+address, 200*time.Millisecond))
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			fmt.Fprint(connection, "HTTP/1.1 400 Bad Request\r\n\r\n")
			connection.Close()
		}
	}()
	expect("TLS failed", failAt(t, "https://"+address, 14*time.Second))
	listener.Close()
	expect("connection refused", failAt(t, "http://"+address, 14*time.Second))
	unknown := failAt(t, "https://nope.invalid", 14*time.Second)
	expect("the host name was not found", unknown)
	var dns *net.DNSError
	if !errors.As(unknown, &dns) {
		t.Errorf("%v is no *net.DNSError", unknown)
	}
}
