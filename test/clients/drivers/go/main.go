// Runs one call of the Go client per line. See languages.ts.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"example.com/cleancast"
)

type call struct {
	Call    string `json:"call"`
	Options struct {
		URL          string `json:"url"`
		Key          string `json:"key"`
		TimeoutMs    int    `json:"timeoutMs"`
		BudgetMs     int    `json:"budgetMs"`
		FirstDelayMs int    `json:"firstDelayMs"`
	} `json:"options"`
	Conversions []cleancast.Conversion `json:"conversions"`
}

func main() {
	lines := bufio.NewReader(os.Stdin)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var one call
		if err := json.Unmarshal(line, &one); err != nil {
			panic(err)
		}
		printed, err := json.Marshal(run(one))
		if err != nil {
			panic(err)
		}
		fmt.Println(string(printed))
	}
}

func run(one call) map[string]any {
	client, err := cleancast.New(one.Options.URL, one.Options.Key)
	if err != nil {
		return map[string]any{"invalid": err.Error(), "dump": fmt.Sprintf("%+v %#v", err, err)}
	}
	client.Timeout = time.Duration(one.Options.TimeoutMs) * time.Millisecond
	client.Budget = time.Duration(one.Options.BudgetMs) * time.Millisecond
	client.BatchBudget = client.Budget
	client.FirstDelay = time.Duration(one.Options.FirstDelayMs) * time.Millisecond
	dump := fmt.Sprintf("%v %+v %#v %s %+v", client, client, client, client, *client)
	if one.Call == "sendBatch" {
		outcomes, err := client.SendBatch(context.Background(), one.Conversions)
		if err != nil {
			panic(err)
		}
		shown := []any{}
		for _, outcome := range outcomes {
			if outcome.Refused != nil {
				shown = append(shown, refused(outcome.Refused))
			} else {
				shown = append(shown, accepted(outcome.Accepted))
			}
		}
		return map[string]any{"outcomes": shown, "dump": dump}
	}
	answer, err := client.Send(context.Background(), one.Conversions[0])
	var refusal *cleancast.Refused
	if errors.As(err, &refusal) {
		return map[string]any{"outcomes": []any{refused(refusal)}, "dump": dump + fmt.Sprintf("%v %#v", err, err)}
	}
	if err != nil {
		panic(err)
	}
	return map[string]any{"outcomes": []any{accepted(answer)}, "dump": dump}
}

func accepted(answer *cleancast.Accepted) map[string]any {
	shown := map[string]any{"ok": true}
	if answer.Event != "" {
		shown["event"] = answer.Event
	}
	if answer.Results != nil {
		shown["results"] = answer.Results
	}
	if answer.Deduped {
		shown["deduped"] = true
	}
	if answer.Filtered {
		shown["filtered"] = true
	}
	return shown
}

func refused(refusal *cleancast.Refused) map[string]any {
	shown := map[string]any{
		"ok": false, "status": refusal.Status, "error": refusal.Message, "retryable": refusal.Retryable,
	}
	if refusal.RetryAfter != nil {
		shown["retryAfterMs"] = refusal.RetryAfter.Milliseconds()
	}
	return shown
}
