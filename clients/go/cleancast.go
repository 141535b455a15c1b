// Copyright (c) 2026 The Cleancast authors
// SPDX-License-Identifier: MIT

// Package cleancast sends conversions to a Cleancast relay. Go 1.19 or newer, no dependencies.
//
//	client, err := cleancast.New("https://shop.example.com", os.Getenv("CLEANCAST_KEY"))
//	answer, err := client.Send(ctx, cleancast.Conversion{Email: "ada@example.com", Event: "purchase", OrderID: "A-1001"})
//
// Temporary failures are repeated within a time budget. Repeating is safe because the relay answers an event that it has
// already with deduped; every repeat sends the bytes of the first attempt, so the order id is the same.
package cleancast

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"net"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	// The relay's limits of a batch.
	maxBatchEvents = 500
	maxBatchBytes  = 2 * 1024 * 1024
	maxDelay       = 30 * time.Second
	// An answer to the largest batch is far smaller.
	maxAnswerBytes = 8 * 1024 * 1024
	// An error message repeats no more of an answer, which may be a page of a proxy.
	maxErrorLength = 300
)

// Item is a product of an order.
type Item struct {
	ID       string   `json:"id"`
	Name     string   `json:"name,omitempty"`
	Category string   `json:"category,omitempty"`
	Brand    string   `json:"brand,omitempty"`
	Price    *float64 `json:"price,omitempty"`
	Quantity int      `json:"quantity,omitempty"`
}

// Conversion needs an Event, and an Email or a HashedEmail.
type Conversion struct {
	Email string `json:"email,omitempty"`
	// HashedEmail is the SHA-256 of the trimmed, lower-cased address, in hexadecimal.
	HashedEmail string `json:"hashed_email,omitempty"`
	Event       string `json:"event,omitempty"`
	// Value is a pointer because a conversion worth 0 differs from one without a value. Float makes one.
	Value    *float64 `json:"value,omitempty"`
	Currency string   `json:"currency,omitempty"`
	OrderID  string   `json:"orderId,omitempty"`
	// RefundID is the id of a refund, so that each partial refund of an order counts.
	RefundID string `json:"refundId,omitempty"`
	// LeadID is Meta's id of a lead from one of its forms.
	LeadID string `json:"leadId,omitempty"`
	// ClickIDs are click ids that you know, such as gclid; they join those of the person's visits.
	ClickIDs map[string]string `json:"clickIds,omitempty"`
	// ClickTime is the time of the click, ISO 8601.
	ClickTime string `json:"clickTime,omitempty"`
	FirstName string `json:"firstName,omitempty"`
	LastName  string `json:"lastName,omitempty"`
	Phone     string `json:"phone,omitempty"`
	// EventTime is ISO 8601. Default: the time of arrival.
	EventTime string `json:"eventTime,omitempty"`
	Items     []Item `json:"items,omitempty"`
}

// Float returns a pointer to a number, for Value and Price.
func Float(number float64) *float64 { return &number }

// PlatformResult is the result of one platform.
type PlatformResult struct {
	OK     bool   `json:"ok"`
	Status string `json:"status,omitempty"`
	Error  string `json:"error,omitempty"`
}

// Accepted says that the relay stored the conversion, knew it already (Deduped), or filtered it by a rule of the site.
type Accepted struct {
	Event    string                    `json:"event,omitempty"`
	Results  map[string]PlatformResult `json:"results,omitempty"`
	Deduped  bool                      `json:"deduped,omitempty"`
	Filtered bool                      `json:"filtered,omitempty"`
}

// Refused says that a conversion was not accepted. It is the error of Send.
type Refused struct {
	// Status is the HTTP status; 0 if no answer arrived.
	Status  int
	Message string
	// Retryable is true if the cause is temporary: send the same conversion again later.
	Retryable bool
	// RetryAfter is the wait that the relay asked for; nil if it asked for none.
	RetryAfter *time.Duration
	cause      error
}

// Unwrap returns the error of the connection where no answer arrived, such as a *net.DNSError; otherwise nil.
func (refused *Refused) Unwrap() error { return refused.cause }

func (refused *Refused) Error() string {
	if refused.Status == 0 {
		return refused.Message
	}
	return fmt.Sprintf("%d %s", refused.Status, refused.Message)
}

// Outcome has either Accepted or Refused.
type Outcome struct {
	Accepted *Accepted
	Refused  *Refused
}

// Client sends the conversions of one site. Goroutines may share it. The key is in a closure, so no verb of fmt prints it.
type Client struct {
	inbound string
	key     func() string
	http    *http.Client
	// Timeout is the longest wait for one answer; the relay answers within 10 seconds.
	Timeout time.Duration
	// Budget is the time for all attempts of Send: a visitor may be waiting for it.
	Budget time.Duration
	// BatchBudget is the time for all attempts of SendBatch.
	BatchBudget time.Duration
	// FirstDelay is the first wait between attempts; it doubles each time. Retry-After goes first.
	FirstDelay time.Duration
}

var keyForm = regexp.MustCompile(`\Acc_[A-Za-z0-9_]+\z`)

// New takes the address of the relay, with or without /__cc/inbound, and an inbound key of the site, cc_….
func New(address, key string) (*Client, error) {
	inbound, err := inboundAddress(address)
	if err != nil {
		return nil, err
	}
	// The message does not repeat the value, which may be a secret in the wrong place.
	if !keyForm.MatchString(key) {
		return nil, errors.New("key must be an inbound key of the site, which begins with cc_")
	}
	return &Client{
		inbound: inbound,
		key:     func() string { return key },
		http: &http.Client{
			// A redirect would send the key to another address.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		Timeout:     15 * time.Second,
		Budget:      10 * time.Second,
		BatchBudget: 60 * time.Second,
		FirstDelay:  500 * time.Millisecond,
	}, nil
}

func (client *Client) String() string { return "Cleancast(" + client.inbound + ")" }

// GoString is what %#v prints.
func (client *Client) GoString() string { return client.String() }

// Send sends one conversion. The error is a *Refused if the relay did not accept it within the time budget.
func (client *Client) Send(ctx context.Context, conversion Conversion) (*Accepted, error) {
	bodies, err := serialise([]Conversion{conversion})
	if err != nil {
		return nil, err
	}
	outcome := client.deliver(ctx, bodies, time.Now().Add(client.Budget), false)[0]
	if outcome.Refused != nil {
		return nil, outcome.Refused
	}
	return outcome.Accepted, nil
}

// SendBatch sends any number of conversions and returns the outcome of each, in order. The error is about a conversion that
// is not valid JSON; then nothing was sent.
func (client *Client) SendBatch(ctx context.Context, conversions []Conversion) ([]Outcome, error) {
	bodies, err := serialise(conversions)
	if err != nil {
		return nil, err
	}
	deadline := time.Now().Add(client.BatchBudget)
	outcomes := make([]Outcome, 0, len(bodies))
	for _, batch := range splitIntoBatches(bodies) {
		outcomes = append(outcomes, client.deliver(ctx, batch, deadline, true)...)
	}
	return outcomes, nil
}

func (client *Client) deliver(ctx context.Context, bodies [][]byte, deadline time.Time, isBatch bool) []Outcome {
	outcomes := make([]Outcome, len(bodies))
	open := make([]int, len(bodies))
	for index := range bodies {
		outcomes[index] = refusal(0, "not sent: the time budget was used", nil)
		open[index] = index
	}
	for attempt := 0; ; attempt++ {
		timeout := client.Timeout
		if left := time.Until(deadline); left < timeout {
			timeout = left
		}
		// Of a list with several batches, the later ones may find the budget used.
		if timeout <= 0 || ctx.Err() != nil {
			return outcomes
		}
		sent := make([][]byte, len(open))
		for i, index := range open {
			sent[i] = bodies[index]
		}
		got := client.exchange(ctx, sent, timeout, isBatch)
		// The budget cut this attempt short: the one before says more.
		if got.status == 0 && attempt > 0 && timeout < client.Timeout {
			return outcomes
		}
		var found []Outcome
		switch {
		case got.status == http.StatusRequestEntityTooLarge && len(sent) > 1:
			// A proxy may allow smaller bodies than the relay does.
			middle := (len(sent) + 1) / 2
			found = client.deliver(ctx, sent[:middle], deadline, isBatch)
			found = append(found, client.deliver(ctx, sent[middle:], deadline, isBatch)...)
		case isBatch:
			found = readBatch(got, len(sent))
		default:
			found = []Outcome{readSingle(got)}
		}
		var again []int
		for i, index := range open {
			outcomes[index] = found[i]
			if found[i].Refused != nil && found[i].Refused.Retryable {
				again = append(again, index)
			}
		}
		open = again
		if got.status == http.StatusRequestEntityTooLarge || len(open) == 0 {
			return outcomes
		}
		// The back-off is the least wait, so that a Retry-After of 0 makes no busy loop.
		delay := backOff(client.FirstDelay, attempt)
		if got.retryAfter != nil && *got.retryAfter > delay {
			delay = *got.retryAfter
		}
		if !time.Now().Add(delay).Before(deadline) {
			return outcomes
		}
		timer := time.NewTimer(delay)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return outcomes
		}
	}
}

// backOff doubles the wait with each attempt; the random half keeps many senders from returning at the same moment.
func backOff(first time.Duration, attempt int) time.Duration {
	delay := first
	for i := 0; i < attempt && delay < maxDelay; i++ {
		delay *= 2
	}
	if delay > maxDelay {
		delay = maxDelay
	}
	return time.Duration(float64(delay) * (0.5 + rand.Float64()/2))
}

type answer struct {
	// status is 0 if no answer arrived.
	status int
	// text has no key in it.
	text       string
	retryAfter *time.Duration
	cause      error
}

func (client *Client) exchange(ctx context.Context, sent [][]byte, timeout time.Duration, isBatch bool) answer {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	address, body := client.inbound, sent[0]
	if isBatch {
		address += "/batch"
		body = append(append([]byte(`{"events":[`), bytes.Join(sent, []byte(","))...), "]}"...)
	}
	key := client.key()
	noAnswer := func(err error) answer {
		none := answer{text: "no answer: " + describe(err, timeout)}
		// No error of the standard library contains headers; one that does must not bring the key into a log.
		if !strings.Contains(fmt.Sprintf("%+v", err), key) {
			none.cause = err
		}
		return none
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return noAnswer(err)
	}
	request.Header.Set("X-CC-Api-Key", key)
	request.Header.Set("Content-Type", "application/json")
	response, err := client.http.Do(request)
	if err != nil {
		return noAnswer(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswerBytes+1))
	if err == nil && len(text) > maxAnswerBytes {
		err = errors.New("the answer is too large")
	}
	if err != nil {
		return noAnswer(err)
	}
	return answer{
		status: response.StatusCode,
		// A proxy or an error page may repeat the request's headers.
		text:       strings.ReplaceAll(string(text), key, "[key]"),
		retryAfter: readRetryAfter(response.Header.Get("Retry-After")),
	}
}

// describe says in plain words why no answer arrived.
func describe(err error, timeout time.Duration) string {
	var dns *net.DNSError
	var header tls.RecordHeaderError
	var authority x509.UnknownAuthorityError
	var hostname x509.HostnameError
	var invalid x509.CertificateInvalidError
	isTimeout := errors.Is(err, context.DeadlineExceeded) || os.IsTimeout(err)
	switch {
	case errors.As(err, &dns) && !dns.IsTimeout:
		return "the host name was not found"
	case isTimeout:
		return "nothing within " + timeout.String()
	case errors.Is(err, context.Canceled):
		return "the context was cancelled"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.As(err, &header), errors.As(err, &authority), errors.As(err, &hostname), errors.As(err, &invalid):
		return "TLS failed"
	// Older versions of Go have a plain text for this one.
	case strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"), strings.Contains(err.Error(), "tls: "):
		return "TLS failed"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		return "the connection was closed"
	}
	return "the request failed"
}

// readRetryAfter reads Retry-After, in seconds or as a date.
func readRetryAfter(text string) *time.Duration {
	text = strings.TrimSpace(text)
	// More seconds than 32 bits hold would overflow a Duration.
	if seconds, err := strconv.ParseUint(text, 10, 32); err == nil {
		wait := time.Duration(seconds) * time.Second
		return &wait
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return nil
	}
	wait := time.Until(at)
	if wait < 0 {
		wait = 0
	}
	return &wait
}

type result struct {
	OK     bool   `json:"ok"`
	Status int    `json:"status"`
	Error  string `json:"error"`
	Accepted
}

func (one result) outcome(retryAfter *time.Duration) Outcome {
	if one.OK {
		accepted := one.Accepted
		return Outcome{Accepted: &accepted}
	}
	message := one.Error
	if message == "" {
		message = "no reason given"
	}
	return refusal(one.Status, message, retryAfter)
}

func readSingle(got answer) Outcome {
	var body result
	// Only the relay answers ok: true; a proxy in between may also answer 200.
	if got.status == http.StatusOK && json.Unmarshal([]byte(got.text), &body) == nil && body.OK {
		return body.outcome(nil)
	}
	return refusalOf(got)
}

func readBatch(got answer, count int) []Outcome {
	var body struct {
		OK      bool     `json:"ok"`
		Results []result `json:"results"`
	}
	outcomes := make([]Outcome, count)
	isAnswer := got.status == http.StatusOK && json.Unmarshal([]byte(got.text), &body) == nil && body.OK
	for i := range outcomes {
		if isAnswer && len(body.Results) == count {
			outcomes[i] = body.Results[i].outcome(got.retryAfter)
		} else {
			outcomes[i] = refusalOf(got)
		}
	}
	return outcomes
}

// refusalOf reads the refusal of a whole request: JSON from the relay, any text from a proxy.
func refusalOf(got answer) Outcome {
	var body struct {
		Error string `json:"error"`
	}
	message := strings.TrimSpace(got.text)
	if json.Unmarshal([]byte(got.text), &body) == nil && body.Error != "" {
		message = body.Error
	}
	if got.status == http.StatusOK {
		message = "the answer is not the relay's: " + message
	}
	outcome := refusal(got.status, message, got.retryAfter)
	outcome.Refused.cause = got.cause
	return outcome
}

func refusal(status int, message string, retryAfter *time.Duration) Outcome {
	if characters := []rune(message); len(characters) > maxErrorLength {
		message = string(characters[:maxErrorLength])
	}
	if message == "" {
		message = "status " + strconv.Itoa(status)
	}
	// Every other status says that the request itself is wrong, so a repeat would fail in the same way.
	retryable := status == 0 || status == 200 || status == 429 || status >= 500
	if !retryable {
		retryAfter = nil
	}
	return Outcome{Refused: &Refused{Status: status, Message: message, Retryable: retryable, RetryAfter: retryAfter}}
}

// serialise fails for NaN and Infinity, which are not JSON.
func serialise(conversions []Conversion) ([][]byte, error) {
	bodies := make([][]byte, len(conversions))
	for i, conversion := range conversions {
		body, err := json.Marshal(conversion)
		if err != nil {
			return nil, fmt.Errorf("conversion %d: %w", i, err)
		}
		bodies[i] = body
	}
	return bodies, nil
}

func splitIntoBatches(bodies [][]byte) [][][]byte {
	var batches [][][]byte
	size := 0
	for _, body := range bodies {
		// With the comma that follows it; the rest of a body, {"events":[]}, has 13 bytes.
		added := len(body) + 1
		last := len(batches) - 1
		if last >= 0 && len(batches[last]) < maxBatchEvents && size+added+13 <= maxBatchBytes {
			batches[last] = append(batches[last], body)
			size += added
		} else {
			batches = append(batches, [][]byte{body})
			size = added
		}
	}
	return batches
}

func inboundAddress(address string) (string, error) {
	parts, err := url.Parse(address)
	if err != nil || parts.Hostname() == "" || (parts.Scheme != "http" && parts.Scheme != "https") {
		return "", errors.New("url must be the relay's address, such as https://shop.example.com")
	}
	host := parts.Hostname()
	if parts.Scheme == "http" && host != "localhost" && host != "127.0.0.1" && host != "::1" {
		return "", errors.New("url must begin with https://: the key would be readable on the way")
	}
	if parts.User != nil {
		return "", errors.New("url must not contain a user name or password")
	}
	path := strings.TrimRight(parts.EscapedPath(), "/")
	path = strings.TrimSuffix(strings.TrimSuffix(path, "/batch"), "/__cc/inbound")
	return parts.Scheme + "://" + parts.Host + path + "/__cc/inbound", nil
}
